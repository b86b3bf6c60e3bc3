/** Resolves the frames of one event by large maps, and tells what it took. Arguments: the folder of the maps. */
import { performance } from 'node:perf_hooks'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createFrameResolver } from '../../../src/server/reports/inbox/inbox-frames.ts'
import { readEvent } from '../../../src/server/reports/inbox/inbox-event.ts'

const [folder = ''] = process.argv.slice(2)
const files = readdirSync(folder).map((name) => `https://example.com/_m/assets/${name.slice(0, -'.map'.length)}`)
const frames = Array.from({ length: 50 }, (_, at) => ({
  filename: files[at % files.length],
  lineno: 1,
  colno: 1 + at,
}))
const values = Array.from({ length: 5 }, () => ({ type: 'Error', value: 'broken', stacktrace: { frames } }))
const event = readEvent({ exception: { values } })
const loop = performance.eventLoopUtilization()
const before = process.memoryUsage().rss
const resolved = await createFrameResolver(folder)(event)
const { utilization } = performance.eventLoopUtilization(loop)
const mapped = resolved.exceptions.flatMap((each) => each.frames).filter((frame) => frame.mapped)
process.stdout.write(
  JSON.stringify({
    mapped: mapped.length,
    files: new Set(mapped.map(({ file }) => file)).size,
    grownMb: (mostResidentKb() * 1_024 - before) / 1_048_576,
    busyShare: utilization,
  }),
)

/** Linux counts the memory of the process that has started this one in `maxRSS`: it may be a worker with many tests. */
function mostResidentKb(): number {
  const status = '/proc/self/status'
  const told = existsSync(status) ? /^VmHWM:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1] : undefined
  return told === undefined ? process.resourceUsage().maxRSS : Number(told)
}
