/**
 * A page that waits for its turn is among V8's old objects when that comes, and what hangs on old objects is kept until
 * the next full collection, also when they are over. So nothing of a page may hang on what has waited for it.
 */
import { Agent, get } from 'node:http'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { withServer } from '../../support/listening.ts'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

const PAGES = 30 // at once
const ROWS = 10_000 // in the data of each
const ALL_BYTES = PAGES * ROWS * 8
const TURN_MS = 30 // of work: more than a turn of the event loop may take, so that others wait

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space' || name === 'large_object_space')
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0)
}

/** Keeps the event loop busy, and makes old objects of all that waits. */
function work(): void {
  const until = performance.now() + TURN_MS
  while (performance.now() < until);
  collect({ type: 'minor' })
}

/** Asks for so many pages at once, and waits for all answers. */
async function visit(port: number, agent: Agent, count: number): Promise<void> {
  const one = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ port, agent }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      }).on('error', reject)
    })
  const statuses = await Promise.all(Array.from({ length: count }, one))
  expect(new Set(statuses)).toEqual(new Set([200]))
}

/**
 * Bytes among the old objects that pages leave behind after minor collections; all but the first have waited.
 * @param kept where their data is kept, if it is.
 */
async function leftovers(kept: unknown[] | undefined): Promise<number> {
  const loader = (): { rows: readonly number[] } => {
    work()
    const rows = Array.from({ length: ROWS }, (_, index) => index + 0.5) // eight bytes each
    kept?.push(rows)
    return { rows }
  }
  const { app } = tinyApp({
    routes: {
      '/': {
        page: page(({ data }: { data: { rows: readonly number[] } }) => <p>{data.rows.length}</p>),
        loader: moduleOf({ loader }),
      },
    },
  })
  const agent = new Agent({ keepAlive: true })
  try {
    return await withServer(app, async (port) => {
      // Connections are there before they are needed: the event loop accepts one each time it goes round.
      await visit(port, agent, PAGES)
      if (kept !== undefined) kept.length = 0
      collect()
      const before = oldBytes()
      await visit(port, agent, PAGES)
      for (let round = 0; round < 3; round += 1) collect({ type: 'minor' })
      return oldBytes() - before
    })
  } finally {
    agent.destroy()
    app.dispose()
  }
}

test('so that this test can fail, pages whose data is kept are left behind', async () => {
  expect(await leftovers([])).toBeGreaterThan(ALL_BYTES)
})

test('the data of pages that have waited for their turn goes with them', async () => {
  expect(await leftovers(undefined)).toBeLessThan(ALL_BYTES / 2)
})
