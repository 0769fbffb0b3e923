import { type Given, startUpstream } from '../upstream/server.ts';

interface Hook {
  id: string;
  url: string;
  eventType: string;
  addresses: Set<string>;
}

export async function startWebhookService() {
  const hooks: Hook[] = [];
  /** Calls that are switched off, such as `POST /webhook`. */
  const unknown = new Set<string>();
  const options = { showsIds: true, most: Infinity };
  const notFound: Given = { status: 404, body: { statusCode: 404, error: 'Not Found' } };
  const upstream = await startUpstream(({ method, url, body }): Given => {
    const [path = ''] = url.split('?');
    const given = (body ?? {}) as Record<string, string> & { addresses?: string[] };
    const call = `${method} ${path.startsWith('/webhook/addresses/') ? '/webhook/addresses' : path}`;
    if (unknown.has(call)) return notFound;
    const hook = hooks.find(({ id }) => id === (given.webhookId ?? path.split('/').at(-1)));
    const addresses = given.addresses ?? [];
    if (method === 'GET' && path.startsWith('/webhooks/')) {
      const row = ({ id, url: webhookUrl, eventType }: Hook) => ({
        ...(options.showsIds && { _id: id }),
        webhookUrl,
        eventType,
      });
      return { body: hooks.map(row) };
    }
    switch (call) {
      case 'POST /webhook': {
        const id = String(hooks.length + 1).padStart(24, 'a');
        hooks.push({ id, url: given.webhookUrl!, eventType: given.eventType!, addresses: new Set() });
        return { status: 201, body: { ...(options.showsIds && { _id: id }), ...given } };
      }
      case 'POST /webhook/add-addresses':
        if (!hook || hook.addresses.size + addresses.length > options.most) return { status: 403, body: {} };
        for (const address of addresses) hook.addresses.add(address.toLowerCase());
        return { status: 201, body: { message: 'added' } };
      case 'POST /webhook/delete-addresses':
        for (const address of addresses) hook?.addresses.delete(address.toLowerCase());
        return { status: 201, body: { acknowledged: true, deletedCount: addresses.length } };
      case 'GET /webhook/addresses':
        return { body: [...hook!.addresses].map((address) => ({ webhookId: hook!.id, address })) };
      default:
        return notFound;
    }
  });
  return {
    ...upstream,
    hooks,
    unknown,
    options,
    reset() {
      hooks.length = 0;
      unknown.clear();
      Object.assign(options, { showsIds: true, most: Infinity });
      upstream.requests.length = 0;
    },
    hook(id: string, url: string, addresses: string[] = [], eventType = 'ALL'): Hook {
      const made = { id, url, eventType, addresses: new Set(addresses.map((one) => one.toLowerCase())) };
      hooks.push(made);
      return made;
    },
  };
}
