import { expect, it, onTestFinished } from 'vitest';
import { createSeal } from '../../src/secrets.ts';
import { createProjects, createSigning } from '../../src/upstream/projects.ts';
import { takeStore } from '../store/sqlite/reused.ts';

it('requires the signatures of a project that was stored while the secrets were being read', async () => {
  const taken = await takeStore();
  onTestFinished(taken.giveBack);
  const { store, close } = await taken.open();
  onTestFinished(close);
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
