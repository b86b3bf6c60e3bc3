/** A queue in which clients take turns; items of one client leave in order. */
export interface FairQueue<Item> {
  /** Adds an item after the others of this client. A new client is last in turn. */
  add(client: string, item: Item): void
  /**
   * Takes the first item of a client, whose next turn is then after those of the others.
   * @param at time of the turn, for `lines`.
   */
  take(client: string, at?: number): Item | undefined
  /** The client whose turn it is, other than this one; `undefined` if no other client waits. */
  nextBut(client?: string): string | undefined
  /** The first item of each client. */
  firsts(): Iterable<Item>
  /** The first item of a client, and when an item before it was taken: `-Infinity` if none was. */
  lineOf(client: string): ClientLine<Item> | undefined
  /** As `lineOf`, of each client. */
  lines(): Iterable<ClientLine<Item>>
  /** Removes all items. */
  clear(): void
}

/** The items of a client that wait. */
interface ClientLine<Item> {
  readonly first: Item
  readonly movedAt: number
}

interface Line<Item> {
  /** Starts at `head`. */
  items: Item[]
  head: number
  movedAt: number
}

/** Starts empty. Each call except `firsts` and `lines` takes constant time. */
export function createFairQueue<Item>(): FairQueue<Item> {
  /** The first is the one whose turn it is. */
  const lines = new Map<string, Line<Item>>()

  return {
    add(client, item) {
      const line = lines.get(client)
      if (line === undefined) lines.set(client, { items: [item], head: 0, movedAt: Number.NEGATIVE_INFINITY })
      else line.items.push(item)
    },
    take(client, at = Number.NEGATIVE_INFINITY) {
      const line = lines.get(client)
      if (line === undefined) return undefined
      const item = line.items[line.head]
      line.head += 1
      line.movedAt = at
      lines.delete(client)
      if (line.head < line.items.length) lines.set(client, shortened(line))
      return item
    },
    nextBut(client) {
      for (const next of lines.keys()) if (next !== client) return next
      return undefined
    },
    *firsts() {
      for (const { items, head } of lines.values()) {
        const item = items[head]
        if (item !== undefined) yield item
      }
    },
    lineOf(client) {
      const line = lines.get(client)
      return line === undefined ? undefined : toClientLine(line)
    },
    *lines() {
      for (const line of lines.values()) yield toClientLine(line)
    },
    clear: () => lines.clear(),
  }
}

/** Lines in the queue are never empty. */
function toClientLine<Item>({ items, head, movedAt }: Line<Item>): ClientLine<Item> {
  return { first: items[head] as Item, movedAt }
}

/** Removes taken items from the array, only once in a while. */
function shortened<Item>(line: Line<Item>): Line<Item> {
  return line.head * 2 > line.items.length ? { ...line, items: line.items.slice(line.head), head: 0 } : line
}
