import type activity from './en-US/activity.json';
import type address from './en-US/address.json';
import type alert from './en-US/alert.json';
import type chain from './en-US/chain.json';
import type channel from './en-US/channel.json';
import type digest from './en-US/digest.json';
import type dispatcher from './en-US/dispatcher.json';
import type failure from './en-US/failure.json';
import type help from './en-US/help.json';
import type label from './en-US/label.json';
import type notice from './en-US/notice.json';
import type provider from './en-US/provider.json';
import type reply from './en-US/reply.json';
import type setup from './en-US/setup.json';
import type silence from './en-US/silence.json';
import type status from './en-US/status.json';
import type subscription from './en-US/subscription.json';
import type token from './en-US/token.json';
import type watch from './en-US/watch.json';
import type webhook from './en-US/webhook.json';
import type why from './en-US/why.json';

/** Every English text, by namespace: the keys that a translation must have. */
export interface English {
  activity: typeof activity;
  address: typeof address;
  alert: typeof alert;
  chain: typeof chain;
  channel: typeof channel;
  digest: typeof digest;
  dispatcher: typeof dispatcher;
  failure: typeof failure;
  help: typeof help;
  label: typeof label;
  notice: typeof notice;
  provider: typeof provider;
  reply: typeof reply;
  setup: typeof setup;
  silence: typeof silence;
  status: typeof status;
  subscription: typeof subscription;
  token: typeof token;
  watch: typeof watch;
  webhook: typeof webhook;
  why: typeof why;
}
