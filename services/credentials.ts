export const CREDENTIALS_FAULT = 'must have its user and password in URL encoding: % is written %25';

/** In UTF-8. @throws where user or password are not URL encoding. */
export function authorizationOf({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

/** true where it has none, or is no URL. */
export function hasReadableCredentials(url: string): boolean {
  try {
    if (URL.canParse(url)) authorizationOf(new URL(url));
    return true;
  } catch {
    return false;
  }
}
