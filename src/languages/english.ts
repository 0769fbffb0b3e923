/** The keys that a translation must have. */
export interface English {
  activity: typeof import('./en-US/activity.json');
  address: typeof import('./en-US/address.json');
  alert: typeof import('./en-US/alert.json');
  chain: typeof import('./en-US/chain.json');
  channel: typeof import('./en-US/channel.json');
  digest: typeof import('./en-US/digest.json');
  dispatcher: typeof import('./en-US/dispatcher.json');
  failure: typeof import('./en-US/failure.json');
  help: typeof import('./en-US/help.json');
  label: typeof import('./en-US/label.json');
  notice: typeof import('./en-US/notice.json');
  provider: typeof import('./en-US/provider.json');
  reply: typeof import('./en-US/reply.json');
  setup: typeof import('./en-US/setup.json');
  silence: typeof import('./en-US/silence.json');
  status: typeof import('./en-US/status.json');
  subscription: typeof import('./en-US/subscription.json');
  token: typeof import('./en-US/token.json');
  watch: typeof import('./en-US/watch.json');
  webhook: typeof import('./en-US/webhook.json');
  why: typeof import('./en-US/why.json');
}
