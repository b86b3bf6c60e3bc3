/** Facts about an action that its forms need. */
export interface NamedAction {
  /** Set once, by the registry before any request, or in a test app by its first form. */
  id: string | undefined
  /** Place in the source, for messages: `lab/guestbook/actions.server.ts: sign`. Set with the id. */
  name: string | undefined
}
