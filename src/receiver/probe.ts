/** Whether this receiver answers at its public address; `other`: something else does. */
export type Reachability = 'reachable' | 'unreachable' | 'other';

/** Asks at the public address: an unknown token gets this receiver's very own 404. */
export async function probeReceiver(publicUrl: string): Promise<Reachability> {
  try {
    const { request } = await import('undici');
    const answer = await request(`${publicUrl}/hooks/probe`, { method: 'POST', signal: AbortSignal.timeout(5_000) });
    const text = await answer.body.text();
    return answer.statusCode === 404 && text === '{"ok":false}' ? 'reachable' : 'other';
  } catch {
    return 'unreachable';
  }
}
