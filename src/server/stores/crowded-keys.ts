/**
 * Where a limit's key is counted while its client has no room for more. To forget one of its keys would free the client
 * of that limit, and to refuse all new ones would lock out others behind its address. So its new keys share cells: each
 * key has one by its hash, for limits of the same size. No key gets more points than it has by itself, and to use up
 * the cells takes as many calls as they have points together.
 *
 * A client has room up to its level: half of the bound; while all is taken, an equal share of it.
 */
import { hash } from 'node:crypto'
import type { RateCells } from './rate-cells.ts'
import { CLIENT_SHARE } from './store.ts'

/** A client has one shared cell for so many entries of its level. */
export const ENTRIES_A_CELL = 64

/** Where a key is counted. */
export interface LimitPlace {
  readonly key: string
  /** Whose room it takes. Shared cells take their own, so that they never make their client the one with most. */
  readonly client: string
}

/** How much a client may have before its new keys share cells. */
export function levelOf(total: number, most: number, clients: number): number {
  return total < most ? most * CLIENT_SHARE : Math.min(most * CLIENT_SHARE, most / Math.max(1, clients))
}

/** Number of the cell of a key, before it is divided by the number of cells. */
export function cellOf(key: string): number {
  return hash('sha256', key, 'buffer').readUInt32BE()
}

/** Begins the names of a client's cells for limits of a size. Stored keys begin otherwise. */
export function cellsName(client: string, { window, interval }: RateCells): string {
  return `+${client} ${window} ${interval} `
}

/** The cell of a key. Their number is a power of two, so that it seldom changes with the level. */
export function sharedPlace(key: string, client: string, cells: RateCells, level: number): LimitPlace {
  let count = 1
  while (count * 2 * ENTRIES_A_CELL <= level) count *= 2
  return { key: cellsName(client, cells) + (cellOf(key) % count), client: `+${client}` }
}
