import { beforeEach, expect, it } from 'vitest';
import { createAttachmentReader } from '../../src/upstream/attachment.ts';
import { forFile } from '../for-file.ts';
import { startUpstream } from './server.ts';

const { url: root, requests } = await forFile(
  startUpstream(({ url }) =>
    url === '/away'
      ? { status: 302, body: '', headers: { location: '/file' } }
      : { body: url === '/large' ? 'a'.repeat(2 ** 20) : 'a,b' },
  ),
);
beforeEach(() => {
  requests.length = 0;
});

it('reads an attachment up to a limit, and follows no redirect', async () => {
  const read = createAttachmentReader(`${root}/api`);
  expect(await read(`${root}/file`, 3)).toEqual({ status: 'read', text: 'a,b' });
  expect(await read(`${root}/file`, 2)).toEqual({ status: 'too-large' });
  expect(await read(`${root}/large`, 1_000)).toEqual({ status: 'too-large' });
  expect(await read(`${root}/away`, 1_000)).toEqual({ status: 'unreachable' });
});

it('reads attachments only from Discord’s file servers and from the host of the REST root', async () => {
  const { host } = new URL(root);
  const read = createAttachmentReader('https://discord.com/api');
  for (const url of [
    `${root}/file`,
    'http://cdn.discordapp.com/file',
    `https://cdn.discordapp.com.${host}/file`,
    `https://cdn.discordapp.com@${host}/file`,
    'file:///etc/passwd',
    'nothing',
  ]) {
    expect(await read(url, 1_000), url).toEqual({ status: 'foreign' });
  }
  expect(requests).toEqual([]);
});

it.each(['user@', ':password@'])('refuses an attachment at a URL with a user name or password (%s)', async (login) => {
  const read = createAttachmentReader(root);
  expect(await read(`${root.replace('://', `://${login}`)}/file`, 1_000)).toEqual({ status: 'foreign' });
  expect(requests).toEqual([]);
});
