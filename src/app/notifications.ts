/** What the processes of a database notify each other of. */
export const NOTIFICATIONS = {
  /** Deliveries wait for the router. */
  stored: 'stored',
  /** Path tokens or signing secrets changed. */
  settings: 'settings',
} as const;
