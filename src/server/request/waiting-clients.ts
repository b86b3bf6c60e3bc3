const MOST_CLIENTS = 64 // one turn of any of them is enough

/** The clients that wait for the same work, as `clientKey` names them. Further ones than the first 64 are not noted. */
export class WaitingClients {
  readonly #clients = new Set<string>()
  #listener: ((client: string) => void) | undefined

  add(client: string): void {
    if (this.#clients.size >= MOST_CLIENTS || this.#clients.has(client)) return
    this.#clients.add(client)
    this.#listener?.(client)
  }

  /** Calls back with each of them, now and later; ends the callbacks of an earlier call. */
  readonly follow = (listener: (client: string) => void): void => {
    this.#listener = listener
    for (const client of this.#clients) listener(client)
  }
}
