/** What a process needs of this one's environment: nothing that configures the bot. */
export const BARE_ENVIRONMENT = {
  PATH: process.env.PATH,
  // Compiled once for all processes that the tests start: a start takes half the time.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};
