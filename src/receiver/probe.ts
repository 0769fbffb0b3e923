import { request } from 'undici';

/** Whether this receiver answers at its public address; `other`: something else does. */
export type Reachability = 'reachable' | 'unreachable' | 'other';

/** Sends a request to the public address: an unknown token gets this receiver's own 404. */
export async function probeReceiver(publicUrl: string): Promise<Reachability> {
  try {
    const answer = await request(`${publicUrl}/hooks/probe`, { method: 'POST', signal: AbortSignal.timeout(5_000) });
    const text = await answer.body.text();
    return answer.statusCode === 404 && text === '{"ok":false}' ? 'reachable' : 'other';
  } catch {
    return 'unreachable';
  }
}
