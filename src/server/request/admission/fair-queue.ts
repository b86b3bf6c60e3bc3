/** Items that wait by client: clients take turns, and what one of them has added leaves in order. */
export interface FairQueue<Item> {
  /** Adds behind all else of this client. One that has had nothing here is served behind the others. */
  add(client: string, item: Item): void
  /** Takes the first item of a client, whose next turn is then behind those of the others. */
  take(client: string): Item | undefined
  /** Whose turn it is, this client left out; `undefined` when nothing waits but what is its own. */
  nextBut(client?: string): string | undefined
  /** The first item of each client. */
  firsts(): Iterable<Item>
}

interface Line<Item> {
  /** From `head` on. */
  items: Item[]
  head: number
}

/** Nothing waits at first. Each call takes the same time, however much waits; `firsts` is the exception. */
export function createFairQueue<Item>(): FairQueue<Item> {
  /** The first is the one whose turn it is. */
  const lines = new Map<string, Line<Item>>()

  return {
    add(client, item) {
      const line = lines.get(client)
      if (line === undefined) lines.set(client, { items: [item], head: 0 })
      else line.items.push(item)
    },
    take(client) {
      const line = lines.get(client)
      if (line === undefined) return undefined
      const item = line.items[line.head]
      line.head += 1
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
  }
}

/** Moves the rest up, only once in a while. */
function shortened<Item>(line: Line<Item>): Line<Item> {
  return line.head * 2 > line.items.length ? { items: line.items.slice(line.head), head: 0 } : line
}
