import { setTimeout as delay } from 'node:timers/promises'

/** A mill of this lab. */
export interface Mill {
  readonly id: string
  readonly name: string
  /** What it is known for, in a sentence. */
  readonly about: string
  /** How far the water falls, in metres. */
  readonly fall: number
  /** What its gauge shows, in centimetres. */
  readonly level: number
}

const MILLS: readonly Mill[] = [
  { id: 'upper', name: 'Upper mill', about: 'Its water falls 3.2 metres.', fall: 3.2, level: 118 },
  { id: 'lower', name: 'Lower mill', about: 'Its water falls 1.9 metres.', fall: 1.9, level: 164 },
]

const GAUGE_MS = 600 // long enough to be seen

/** A mill by its id. */
export async function findMill(id: string): Promise<Mill | undefined> {
  return MILLS.find((mill) => mill.id === id)
}

/** Asks the gauge of a mill, which takes its time. */
export function readGauge({ level }: Mill, signal: AbortSignal): Promise<number> {
  return delay(GAUGE_MS, level, { signal })
}
