import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

/** The examples for Compose and Kubernetes, without either: that their parts fit together, and what each may do. */

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const VARIABLES = new Set([...read('.env.example').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name!));

interface ComposeService {
  profiles?: string[];
  build?: { target: string };
  image?: string;
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  cap_drop?: string[];
  security_opt?: string[];
  read_only?: boolean;
  tmpfs?: string[];
}

describe('compose.yaml', () => {
  type Compose = { services: Record<string, ComposeService>; volumes: Record<string, null> };
  const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
  const services = Object.entries(compose.services);
  const bots = services.filter(([, { build }]) => build?.target === 'bot');
  const running = (profile: string) =>
    services.filter(([, { profiles = [profile] }]) => profiles.includes(profile)).map(([name]) => name);

  it('starts one bot by default, and two with a Postgres with the profile postgres', () => {
    expect(services.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name)).toEqual(['bot']);
    expect(running('postgres')).toEqual(['bot', 'bot-2', 'postgres']);
  });

  it('gives every bot a start that works without the profile, after a Postgres that responds', () => {
    expect(bots).toHaveLength(2);
    for (const [, { depends_on: first }] of bots)
      expect(first).toEqual({ postgres: { condition: 'service_healthy', required: false } });
  });

  it('publishes each port once, and only on this machine', () => {
    const ports = services.flatMap(([, { ports = [] }]) => ports);
    expect(ports.filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([]);
    const published = ports.map((port) => port.split(':')[1]);
    expect(new Set(published).size).toBe(published.length);
    expect(compose.services.postgres!.ports).toBeUndefined();
  });

  it.each(services)('runs %s without rights that it does not need', (_name, service) => {
    expect([service.cap_drop, service.security_opt]).toEqual([['ALL'], ['no-new-privileges:true']]);
    // An image of others is named by its version; Grafana installs its plugins into its own folder.
    if (service.image) expect(service.image).toMatch(/:v?\d+\.\d+/);
    if (!service.image?.startsWith('grafana/')) expect(service).toHaveProperty('read_only', true);
  });

  it('declares every volume that a container mounts', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]!));
    const named = mounted.filter((name) => !name.startsWith('.'));
    expect(new Set(named)).toEqual(new Set(Object.keys(compose.volumes)));
  });

  it('sets only variables that a bot reads', () => {
    const set = bots.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(set.filter((name) => !VARIABLES.has(name))).toEqual([]);
  });
});

/** The objects that a pod refers to. */
interface Pod {
  containers: { env: { name: string }[]; volumeMounts: { name: string }[] }[];
  volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[];
}
interface Manifest {
  kind: string;
  spec: { replicas: number; minAvailable: number; template: { spec: Pod } };
}

describe.each(['docs/kubernetes.yaml', 'docs/kubernetes-postgres.yaml'])('%s', (path) => {
  const parsed = parseAllDocuments(read(path));
  const manifests = new Map(parsed.map((document) => [document.get('kind'), document.toJS() as Manifest]));
  const of = (kind: string) => manifests.get(kind);
  const deployment = of('Deployment')!;
  const pod = deployment.spec.template.spec;
  const [bot] = pod.containers;

  it('parses the manifests without an error or a warning, and names each object', () => {
    expect(parsed.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const apiVersion = expect.stringMatching(/^(apps\/v1|policy\/v1|v1)$/);
    for (const manifest of manifests.values())
      expect(manifest).toMatchObject({ apiVersion, metadata: { name: 'ledgerbell' } });
  });

  it('selects exactly the pods that the deployment makes', () => {
    const labels = { app: 'ledgerbell' };
    expect(deployment.spec).toMatchObject({
      selector: { matchLabels: labels },
      template: { metadata: { labels } },
    });
    expect(of('Service')).toMatchObject({ spec: { selector: labels } });
  });

  it('probes and serves only ports of a pod that the bot opens', () => {
    expect(bot).toMatchObject({
      ports: [
        { name: 'hooks', containerPort: 8080 },
        { name: 'ops', containerPort: 9464 },
      ],
      readinessProbe: { httpGet: { port: 'ops' } },
      // A restart does not help against a database or a Discord that is away.
      livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
    });
    expect(of('Service')).toMatchObject({ spec: { ports: [{ targetPort: 'hooks' }] } });
  });

  it('mounts the volumes that the pod has, and sets only variables that the bot reads', () => {
    expect(bot!.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
    const claims = pod.volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
    for (const name of claims) expect(of('PersistentVolumeClaim')).toMatchObject({ metadata: { name } });
    expect(bot!.env.map(({ name }) => name).filter((name) => !VARIABLES.has(name))).toEqual([]);
  });

  it('runs the pod as an unprivileged user with a read-only root', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(bot).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
  });

  it('runs as many pods as the database allows', () => {
    if (of('PersistentVolumeClaim'))
      return expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(deployment.spec.replicas).toBeGreaterThan(of('PodDisruptionBudget')!.spec.minAvailable);
    const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 };
    expect(deployment.spec).toMatchObject({ strategy: { type: 'RollingUpdate', rollingUpdate } });
    expect(bot).toMatchObject({ readinessProbe: { httpGet: { path: '/readyz?part=database' } } });
  });
});
