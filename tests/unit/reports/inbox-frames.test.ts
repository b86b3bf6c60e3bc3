import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { readEvent } from '../../../src/server/reports/inbox/inbox-event.ts'
import { createFrameResolver } from '../../../src/server/reports/inbox/inbox-frames.ts'
import type { ReportEvent, ReportFrame } from '../../../src/server/api/report-inbox.ts'
import {
  createPlaceLookup,
  type PlaceLookup,
  type PlaceQuestion,
} from '../../../src/server/reports/inbox/source-places.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

/** A folder of maps with mappings of about so many bytes each. */
async function mapsFolder(names: readonly string[], bytes = 100): Promise<string> {
  const folder = await makeTempDir('maps')
  onTestFinished(() => folder.remove())
  const maps = join(folder.path, 'maps')
  await mkdir(maps)
  for (const [at, name] of names.entries()) {
    const map = {
      version: 3,
      sources: [`src/${at}.ts`],
      names: [],
      mappings: 'AAAA,CAAC'.concat(',CAAC'.repeat(bytes / 5)),
    }
    await writeFile(join(maps, `${name}.js.map`), JSON.stringify(map))
  }
  return maps
}

/** An event with a frame for each line of each file. */
function eventOf(files: readonly string[], lines = [1]): ReportEvent {
  const frames = files.flatMap((file) =>
    lines.map((line) => ({ filename: `https://example.com/_m/assets/${file}.js`, lineno: line, colno: 2 })),
  )
  return readEvent({ exception: { values: [{ type: 'Error', value: 'broken', stacktrace: { frames } }] } })
}

/** Writes down what is asked, and how much of it at once. */
function watched(lookUp: PlaceLookup) {
  const asked: (readonly PlaceQuestion[])[] = []
  const watching: PlaceLookup = (ask) =>
    lookUp(() => {
      const questions = ask()
      if (questions.length > 0) asked.push(questions)
      return questions
    })
  return { asked, lookUp: watching }
}

const framesOf = ({ exceptions }: ReportEvent): readonly ReportFrame[] => exceptions.flatMap(({ frames }) => frames)

test('a map is read once for all frames of its file, and not again for a page that is loaded again', async () => {
  const maps = await mapsFolder(['a', 'b'])
  const { asked, lookUp } = watched(createPlaceLookup())
  const resolve = createFrameResolver(maps, lookUp)
  const event = eventOf(['a', 'b', 'a', 'b', 'a'], [1, 1, 2])
  const first = await resolve(event)
  expect(framesOf(first).map(({ mapped }) => mapped)).toEqual(framesOf(event).map(() => true))
  expect(asked).toHaveLength(1)
  expect(asked[0]?.map(({ places }) => places.length)).toEqual([2, 2])
  expect(await resolve(event)).toEqual(first)
  expect(asked).toHaveLength(1)
})

test('of one event at most four maps are read, those of the stack that was caught first', async () => {
  const maps = await mapsFolder(['a', 'b', 'c', 'd', 'e', 'f'])
  const { asked, lookUp } = watched(createPlaceLookup())
  const [cause, caught] = [eventOf(['a', 'b', 'c']).exceptions, eventOf(['d', 'e', 'f']).exceptions]
  const event = { ...eventOf([]), exceptions: [...cause, ...caught] }
  const { exceptions } = await createFrameResolver(maps, lookUp)(event)
  expect(asked.flat()).toHaveLength(4)
  expect(exceptions.map(({ frames }) => frames.filter(({ mapped }) => mapped).length)).toEqual([1, 3])
})

test('those that look at the same event at once read its maps once, and one at a time', async () => {
  const maps = await mapsFolder(['a', 'b'])
  const { asked, lookUp } = watched(createPlaceLookup())
  const resolve = createFrameResolver(maps, lookUp)
  const events = await Promise.all(Array.from({ length: 8 }, () => resolve(eventOf(['a', 'b']))))
  expect(asked).toHaveLength(1)
  for (const event of events) expect(framesOf(event).every(({ mapped }) => mapped)).toBe(true)
})

test('where too many wait already, frames are shown as they came, and in the sources the next time', async () => {
  const maps = await mapsFolder(['a'])
  const resolve = createFrameResolver(maps, createPlaceLookup())
  const lines = Array.from({ length: 12 }, (_, at) => at + 1)
  const events = await Promise.all(lines.map((line) => resolve(eventOf(['a'], [line]))))
  expect(events.flatMap(framesOf).filter(({ mapped }) => mapped)).toHaveLength(9)
  expect(framesOf(await resolve(eventOf(['a'], [12])))).toMatchObject([{ mapped: true }])
})

test('a map that takes too long is given up', async () => {
  const maps = await mapsFolder(['a', 'b'], 3_000_000)
  const resolve = createFrameResolver(maps, createPlaceLookup(1))
  expect(framesOf(await resolve(eventOf(['a', 'b'])))).toMatchObject([{ mapped: false }, { mapped: false }])
})

test('250 frames in five files with large maps take little memory, and do not hold up the server', async () => {
  const maps = await mapsFolder(['a', 'b', 'c', 'd', 'e'], 1_000_000)
  const child = join(import.meta.dirname, 'frames-child.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [child, maps])
  const told = JSON.parse(stdout) as Record<'mapped' | 'files' | 'grownMb' | 'busyShare', number>
  expect(told).toMatchObject({ mapped: 200, files: 4 })
  expect(told.grownMb).toBeLessThan(250)
  expect(told.busyShare).toBeLessThan(0.5) // all of it where the maps are read by the server itself
}, 60_000)
