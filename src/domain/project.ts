/** A guild's own notification project; its ID is its scope. */
export interface StoredProject {
  scope: number;
  guildId: string;
  projectId: string;
  /** The keys, sealed. */
  sealed: Uint8Array;
  /** Its deliveries must be signed, with secrets that are among the sealed keys. */
  signed: boolean;
}

/** A project to store; `signed` defaults to false. */
export type NewProject = Omit<StoredProject, 'scope' | 'signed'> & Partial<Pick<StoredProject, 'signed'>>;

/** A path token of the receiver, with the scope whose events it receives; a retiring one waits to be revoked. */
export interface ReceiverToken {
  token: string;
  scope: number;
  retiring: boolean;
}
