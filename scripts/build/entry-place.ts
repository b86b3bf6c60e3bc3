import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { BuildFault } from './build-fault.ts'
import { statesRoutes } from './routes-file.ts'

/** A position in a source. */
export interface FaultPlace {
  /** Path in the project. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
}

/** A fault of an entry of the route table: its message, and on a second line the entry's place. */
export class EntryFault extends BuildFault {
  /** The message alone. */
  readonly summary: string
  readonly place: FaultPlace | undefined

  constructor(summary: string, place: FaultPlace | undefined) {
    super(place === undefined ? summary : `${summary}\n  ${place.file}:${place.line}:${place.column}`)
    this.summary = summary
    this.place = place
  }
}

const IMPORT = /\bimport\(\s*(['"`])(.+?)\1/g

/**
 * Finds where the table imports a module: in the entry of its pattern, or else the first place that does.
 * @param root the project.
 * @param files paths in the project, with those that contain the table.
 * @param source path of the module in the project.
 */
export function entryPlace(
  root: string,
  files: readonly string[],
  pattern: string,
  source: string,
): FaultPlace | undefined {
  for (const file of files.filter(statesRoutes)) {
    const text = readFileSync(join(root, file), 'utf8')
    const imports = [...text.matchAll(IMPORT)].filter(([, , path = '']) => leadsTo(file, path, source))
    const entry = Math.max(...["'", '"', '`'].map((quote) => text.indexOf(`${quote}${pattern}${quote}`)))
    const { index } = imports.find((one) => one.index > entry) ?? imports[0] ?? {}
    if (index === undefined) continue
    const before = text.slice(0, index)
    return { file, line: before.split('\n').length, column: index - before.lastIndexOf('\n') }
  }
  return undefined
}

function leadsTo(file: string, path: string, source: string): boolean {
  const named = posix.join(posix.dirname(file), path)
  return named === source || source.startsWith(`${named}.`)
}
