import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createAttachmentReader } from '../../src/upstream/attachment.ts';

async function startFileServer() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url === '/away') response.writeHead(302, { location: '/file' }).end();
    else if (request.url === '/endless') response.write('a'.repeat(64 * 1024), () => response.write('b'));
    else response.end('a,b');
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((closed) => server.close(() => closed()));
  });
  return { asked, root: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('reads an attachment up to a limit, and follows no redirect', async () => {
  const { root } = await startFileServer();
  const read = createAttachmentReader(`${root}/api`);
  expect(await read(`${root}/file`, 3)).toEqual({ status: 'read', text: 'a,b' });
  expect(await read(`${root}/file`, 2)).toEqual({ status: 'too-large' });
  expect(await read(`${root}/endless`, 1_000)).toEqual({ status: 'too-large' });
  expect(await read(`${root}/away`, 1_000)).toEqual({ status: 'unreachable' });
});

it('reads attachments only from Discord’s file servers and from the host of the REST root', async () => {
  const { root, asked } = await startFileServer();
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
  expect(asked).toEqual([]);
});

it.each(['user@', ':password@'])('refuses an attachment at a URL with a user name or password (%s)', async (login) => {
  const { root, asked } = await startFileServer();
  const read = createAttachmentReader(root);
  expect(await read(`${root.replace('://', `://${login}`)}/file`, 1_000)).toEqual({ status: 'foreign' });
  expect(asked).toEqual([]);
});
