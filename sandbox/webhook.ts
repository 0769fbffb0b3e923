/** The operator's webhook at the notification service, managed over interface A as any client would. */
import type { Project } from '../services/notification/types.ts';

export type Webhook = Awaited<ReturnType<typeof createWebhook>>;

/** @param root of interface A, with its version segment. @throws with the service's error message. */
export async function createWebhook(root: string, project: Project, webhookUrl: string) {
  async function call<Result>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Result> {
    const response = await fetch(`${root}${path}?apiKey=${encodeURIComponent(project.key)}`, {
      method,
      headers: { 'API-SECRET': project.secret, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const result = (await response.json()) as Result & { errorMessage?: string };
    if (!response.ok) throw new Error(`The notification service responded ${response.status}: ${result.errorMessage}`);
    return result;
  }

  const { webhookId: id } = await call<{ webhookId: string }>('POST', '/webhook', {
    projectId: project.id,
    webhookUrl,
    eventType: 'ALL',
  });
  return {
    id,
    addresses: async (): Promise<string[]> =>
      (await call<{ address: string }[]>('GET', `/webhook/addresses/${id}`)).map(({ address }) => address),
    add: async (addresses: readonly string[]) =>
      void (await call('POST', '/webhook/add-addresses', { webhookId: id, addresses })),
    remove: async (addresses: readonly string[]) =>
      void (await call('POST', '/webhook/delete-addresses', { webhookId: id, addresses })),
  };
}
