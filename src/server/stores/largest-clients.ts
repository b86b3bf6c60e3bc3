/** What a client has of something. */
interface HeldByClient {
  readonly client: string
  readonly amount: number
}

/** How many are read, and how many times something is taken before they are read again: to read them takes milliseconds. */
export const MOST_READ = 64

/** The clients of a store that have most of something. */
export class LargestClients {
  readonly #read: () => readonly HeldByClient[]
  #amounts = new Map<string, number>()
  #left = 0
  /** Whether something was taken from those that were read. */
  #hasGiven = false

  /** @param read the `MOST_READ` largest. */
  constructor(read: () => readonly HeldByClient[]) {
    this.#read = read
  }

  /** The one that has most; `undefined` if all have as little. */
  first(): string | undefined {
    if (this.#left <= 0) this.#readAgain()
    const known = this.#largest()
    // Those that were read have given what made them the largest.
    if (known !== undefined || !this.#hasGiven) return known
    this.#readAgain()
    return this.#largest()
  }

  #readAgain(): void {
    this.#amounts = new Map(this.#read().map(({ client, amount }) => [client, amount]))
    this.#left = MOST_READ
    this.#hasGiven = false
  }

  #largest(): string | undefined {
    let [largest, most]: [string | undefined, number] = [undefined, 0]
    for (const [client, amount] of this.#amounts) if (amount > most) [largest, most] = [client, amount]
    return largest
  }

  /** Notes that something was taken from a client. @param amount infinite if there is nothing to take. */
  note(client: string | undefined, amount: number): void {
    this.#left -= 1
    if (client === undefined) return
    this.#hasGiven ||= amount !== Infinity
    this.#amounts.set(client, (this.#amounts.get(client) ?? 0) - amount)
  }
}
