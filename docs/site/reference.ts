import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Fastify from 'fastify';
import { openApiRoutes } from '../../services/openapi.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Every generated page of docs/reference/, by its path. */
export async function referenceFiles(): Promise<Record<string, string>> {
  const document = await openApi();
  return {
    'docs/reference/environment.md': environment(readFileSync(resolve(ROOT, '.env.example'), 'utf8')),
    'docs/reference/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'docs/reference/services.md': services(document),
  };
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The table of the environment: a row for each comment of `.env.example` and the variables below it. */
function environment(example: string): string {
  const rows: string[] = [];
  for (const block of example.matchAll(/((?:^#.*\n)+)((?:^[A-Z][A-Z0-9_]*=.*\n?)+)/gm)) {
    const comment = block[1]!
      .replaceAll(/^# ?/gm, '')
      .trim()
      .replaceAll('\n', ' ')
      .replaceAll(/(?:https?|postgres):\S+[\w]/g, '`$&`');
    const variables = block[2]!
      .trim()
      .split('\n')
      .map((line) => line.split('='));
    const names = variables.map(([name]) => `\`${name}\``).join(', ');
    const values = variables.map(([, ...rest]) => rest.join('=')).map((value) => (value === '' ? '–' : `\`${value}\``));
    const shown = values.every((value) => value === '–') ? '–' : values.join(', ').replaceAll(/,(?=\S)/g, ', ');
    rows.push(`| ${names} | ${cell(shown)} | ${cell(comment)} |`);
  }
  return `# Environment

<!-- Made by npm run docs from .env.example. -->

The bot reads these variables, from the environment or from \`.env\` in the folder it is started in. An empty value counts as
not set. A wrong or missing value ends the start with exit code 78 and one message that names every fault. The services
have an [environment of their own](../../services/README.md).

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}
`;
}

interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

async function openApi(): Promise<OpenApi> {
  const server = Fastify();
  openApiRoutes(server, [{ prefix: '', nativeSymbol: 'NATIVE' }]);
  return (await server.inject('/openapi.json')).json<OpenApi>();
}

function services({ paths }: OpenApi): string {
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { responses }]) => `| ${method.toUpperCase()} | \`${path}\` | ${Object.keys(responses).join(', ')} |`,
    ),
  );
  return `# Interfaces of the services

<!-- Made by npm run docs from services/openapi.ts. -->

The [self-hosted services](../../services/README.md) speak the three interfaces that the bot uses. Their schemas are in
[openapi.json](openapi.json) (OpenAPI 3.1). A running service returns the same document at \`/openapi.json\`.

| method | path | responses |
|---|---|---|
${rows.join('\n')}
`;
}
