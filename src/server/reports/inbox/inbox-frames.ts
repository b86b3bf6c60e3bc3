/**
 * Finds the source places of frames in built files, by the source maps of the build. A frame finds its map by debug id,
 * or by file name if the event has no ids. At most four maps are read per event; found places are cached, up to 2,000,
 * so that a reload of the page reads none.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { debugIdOf } from '../../../shared/reports/debug-id.ts'
import type { ReportEvent, ReportException, ReportFrame } from '../../api/report-inbox.ts'
import { lookUpPlaces, type PlaceLookup, type PlaceQuestion, type SourcePlace } from './source-places.ts'

const MOST_MAPS = 4 // per event: a stack spans few files
const MOST_PLACES = 2_000
const ASSET = /\/_m\/assets\/([\w.-]+\.js)$/ // a name without a slash: no event leads out of the folder

/** Resolves the frames that it can, and leaves others unchanged. */
type FrameResolver = (event: ReportEvent) => Promise<ReportEvent>

/** A place in a built file. */
interface BuiltPlace {
  /** Name of the file. */
  readonly name: string
  readonly line: number
  readonly column: number
}

/** Scripts that have a map, and their names by debug id. */
interface MappedScripts {
  readonly names: ReadonlySet<string>
  readonly byId: ReadonlyMap<string, string>
}

/**
 * @param folder absolute path of the build's maps, named after their files with `.map`; without one, nothing is
 * resolved.
 * @param lookUp for tests.
 */
export function createFrameResolver(folder: string | undefined, lookUp: PlaceLookup = lookUpPlaces): FrameResolver {
  /** By `keyOf`; `null` for a place that is missing from its map. */
  const known = new Map<string, SourcePlace | null>()
  let scripts: Promise<MappedScripts> | undefined

  /** Reads the maps that these places need. */
  async function learn(maps: string, places: readonly BuiltPlace[]): Promise<void> {
    const isKnown = (place: BuiltPlace): boolean => known.has(keyOf(place))
    if (places.every(isKnown)) return
    let asked: readonly (readonly BuiltPlace[])[] = []
    const answers = await lookUp(() => {
      asked = byFile(places.filter((place) => !isKnown(place)))
      return asked.map((ofFile) => questionOf(maps, ofFile))
    })
    for (const [at, ofFile] of asked.entries()) {
      const answer = answers[at]
      if (answer !== undefined)
        for (const [index, place] of ofFile.entries()) known.set(keyOf(place), answer[index] ?? null)
    }
  }

  function forgetOldest(): void {
    for (const oldest of known.keys()) {
      if (known.size <= MOST_PLACES) return
      known.delete(oldest)
    }
  }

  return async (event) => {
    if (folder === undefined) return event
    const { names, byId } = await (scripts ??= listScripts(folder))
    const placed = new Map<ReportFrame, BuiltPlace>()
    const files = new Set<string>()
    // The caught exception first: its stack has priority if there are too many files.
    for (const frame of event.exceptions.toReversed().flatMap(({ frames }) => frames)) {
      const place = placeOf(frame, names, byId)
      if (place === undefined || (!files.has(place.name) && files.size === MOST_MAPS)) continue
      files.add(place.name)
      placed.set(frame, place)
    }
    await learn(folder, [...placed.values()])
    const resolve = (frame: ReportFrame): ReportFrame => {
      const place = placed.get(frame)
      const origin = place === undefined ? undefined : known.get(keyOf(place))
      return shown(frame, origin ?? undefined)
    }
    const exceptions = event.exceptions.map((each): ReportException => ({ ...each, frames: each.frames.map(resolve) }))
    forgetOldest()
    return { ...event, exceptions }
  }
}

function placeOf(
  { file, debugId, line, column }: ReportFrame,
  names: ReadonlySet<string>,
  byId: ReadonlyMap<string, string>,
): BuiltPlace | undefined {
  if (line === undefined || column === undefined || line === 0) return undefined
  // A file with a different id is a different file, even if its name is the same.
  const name = debugId === undefined ? ASSET.exec(file.replace(/[?#].*$/s, ''))?.[1] : byId.get(debugId)
  return name === undefined || !names.has(name) ? undefined : { name, line, column }
}

/** Groups places by file, each place once. */
function byFile(places: readonly BuiltPlace[]): readonly (readonly BuiltPlace[])[] {
  const distinct = new Map(places.map((place) => [keyOf(place), place]))
  return [...Map.groupBy(distinct.values(), ({ name }) => name).values()]
}

function questionOf(maps: string, ofFile: readonly BuiltPlace[]): PlaceQuestion {
  return {
    path: join(maps, `${ofFile[0]?.name ?? ''}.map`),
    places: ofFile.map(({ line, column }) => [line, column] as const),
  }
}

function keyOf({ name, line, column }: BuiltPlace): string {
  return `${name}:${line}:${column}`
}

function shown(frame: ReportFrame, origin: SourcePlace | undefined): ReportFrame {
  if (origin === undefined) {
    const { function: name, file, line, column, inApp } = frame
    return { function: name, file, line, column, inApp, mapped: false }
  }
  const file = origin.file.replace(/^(?:\.\.\/)+/, '')
  return {
    // Names in minified files mean nothing, and the map knows places, not functions.
    function: '',
    file,
    line: origin.line,
    column: origin.column,
    inApp: !/(?:^|\/)node_modules\//.test(file),
    mapped: true,
  }
}

async function listScripts(folder: string): Promise<MappedScripts> {
  const files = await readdir(folder).catch(() => [])
  const names = files.filter((name) => name.endsWith('.js.map')).map((name) => name.slice(0, -'.map'.length))
  return { names: new Set(names), byId: new Map(names.map((name) => [debugIdOf(name), name])) }
}
