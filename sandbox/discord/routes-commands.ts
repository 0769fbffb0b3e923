/** REST: registering the application's commands, globally and in one server. */
import type { Core } from './core.ts';
import { errors } from './errors.ts';
import { type Call, created, NO_CONTENT, ok, type Route } from './route.ts';

/** Returns the scope of a call. @throws when it names another application. */
function scope(core: Core, { params }: Call): string | null {
  if (params.application !== core.world.botId) throw errors.unknownApplication();
  if (params.guild === undefined) return null;
  if (!core.world.guilds.get(params.guild)?.present) throw errors.missingAccess();
  return params.guild;
}

/** Lists omit localized texts unless they are requested. */
function withoutOthers(command: object): object {
  const keep = (key: string, value: unknown) => (key.endsWith('_localizations') ? undefined : value);
  return JSON.parse(JSON.stringify(command, keep)) as object;
}

/** The routes that register commands, globally and for a server. */
export function commandRoutes(core: Core): Route[] {
  const { commands } = core;
  return ['/applications/:application/commands', '/applications/:application/guilds/:guild/commands'].flatMap(
    (root): Route[] => [
      {
        method: 'GET',
        path: root,
        run: (call) => {
          const list = commands.list(scope(core, call));
          return ok(call.query.with_localizations === 'true' ? list : list.map(withoutOthers));
        },
      },
      {
        method: 'PUT',
        path: root,
        run: (call) => ok(commands.replace(scope(core, call), call.body)),
      },
      {
        method: 'POST',
        path: root,
        run: (call) => {
          const { isNew, command } = commands.create(scope(core, call), call.body);
          return isNew ? created(command) : ok(command);
        },
      },
      {
        method: 'GET',
        path: `${root}/:command`,
        run: (call) => ok(commands.get(scope(core, call), call.params.command!)),
      },
      {
        method: 'PATCH',
        path: `${root}/:command`,
        run: (call) => ok(commands.edit(scope(core, call), call.params.command!, call.body)),
      },
      {
        method: 'DELETE',
        path: `${root}/:command`,
        run: (call) => {
          commands.remove(scope(core, call), call.params.command!);
          return NO_CONTENT;
        },
      },
    ],
  );
}
