import type { Core } from './core.ts';
import { errors } from './errors.ts';
import { type Call, Created, on, type Route } from './route.ts';

/** Lists omit localized texts unless they are requested. */
function withoutOthers(command: object): object {
  const keep = (key: string, value: unknown) => (key.endsWith('_localizations') ? undefined : value);
  return JSON.parse(JSON.stringify(command, keep)) as object;
}

/** @throws when it names another application. */
function scopeOf({ world }: Core, { params: { application, guild } }: Call): string | null {
  if (application !== world.botId) throw errors.unknownApplication();
  if (guild === undefined) return null;
  if (!world.guilds.get(guild)?.present) throw errors.missingAccess();
  return guild;
}

function list(core: Core, call: Call): object[] {
  const found = core.commands.list(scopeOf(core, call));
  return call.query.with_localizations === 'true' ? found : found.map(withoutOthers);
}

export const COMMAND_ROUTES: readonly Route[] = [
  '/applications/:application/commands',
  '/applications/:application/guilds/:guild/commands',
].flatMap((root) => [
  on('GET', root, list),
  on('PUT', root, (core, call) => core.commands.replace(scopeOf(core, call), call.body)),
  on('POST', root, (core, call) => {
    const { command, isNew } = core.commands.create(scopeOf(core, call), call.body);
    return isNew ? new Created(command) : command;
  }),
  on('GET', `${root}/:command`, (core, call) => core.commands.get(scopeOf(core, call), call.params.command!)),
  on('PATCH', `${root}/:command`, (core, call) => {
    return core.commands.edit(scopeOf(core, call), call.params.command!, call.body);
  }),
  on('DELETE', `${root}/:command`, (core, call) => core.commands.remove(scopeOf(core, call), call.params.command!)),
]);
