import { expect, it } from 'vitest';
import type { StoredProject } from '../../src/domain/project.ts';
import { createSeal } from '../../src/secrets.ts';
import { createProjects, createSigning } from '../../src/upstream/projects.ts';
import { storeForTest } from '../store/sqlite/reused.ts';

it('requires the signatures of a project that was stored while the secrets were being read', async () => {
  const store = await storeForTest();
  const wait = { reading: Promise.resolve() };
  const all = async () => {
    const { reading } = wait;
    const read = await store.projects.all();
    await reading;
    return read;
  };
  const seal = createSeal([Buffer.alloc(32, 7)]);
  const signing = createSigning({ projects: { ...store.projects, all } }, seal, new Map());
  const projects = createProjects({
    store,
    seal,
    signing,
    url: undefined,
    operator: null,
    operatorGuildIds: [],
    now: () => 0,
    newToken: () => 'a-path-token-of-this-test',
    onTokens: async () => undefined,
  });

  const slow = Promise.withResolvers<void>();
  wait.reading = slow.promise;
  const reread = signing.read();
  wait.reading = Promise.resolve();
  const scope = await projects.save('1', { projectId: 'p', apiKey: 'k', apiSecret: 's', signingSecrets: ['secret'] });
  slow.resolve();
  await reread;
  expect(signing.secrets.get(scope)).toEqual(['secret']);
});

it('keeps requiring all signatures, of every network, when one project’s secrets cannot be read again', async () => {
  let text = '{"signingSecrets":["secret"]}';
  const seal = { seal: () => new Uint8Array(), open: () => ({ text, stale: false }) };
  const signed = { guildId: '1', projectId: 'p', sealed: new Uint8Array(), signed: true };
  const all = async (): Promise<StoredProject[]> => [
    { ...signed, scope: 7, network: 0 },
    { ...signed, scope: 8, network: 137 },
  ];
  const signing = createSigning({ projects: { all } } as never, seal, new Map([[0, ['operator’s']]]));
  await signing.read();
  text = 'damaged';
  await expect(signing.read()).rejects.toThrow();
  expect([...signing.secrets]).toEqual([
    [0, ['operator’s']],
    [7, ['secret']],
    [8, ['secret']],
  ]);
});
