/**
 * The order of the rooms inside each part of the project: a file may import from its own room and from lower floors.
 * oxlint checks cycles of single files (`import/no-cycle`). Pure: takes the sources, returns the faults.
 */
import { posix } from 'node:path'
import { listImports } from './import-list.ts'
import type { SourceFile } from './house-rules.ts'

/** Rooms of one floor: folders or files of the tower. `*` means all that no floor names. */
type Floor = readonly string[]

/** The floors of a folder, lowest first. */
export type Tower = readonly Floor[]

/**
 * All towers of the project by folder. Rooms of one floor do not import each other; files of a `*` floor may, folders
 * of it may not.
 */
export const TOWERS: Readonly<Record<string, Tower>> = {
  'src/shared': [
    ['*'],
    ['protocol', 'reports'],
    ['rules', 'href', 'match-routes', 'route-order', 'route-pattern-faults'],
    ['route-table', 'route-table-faults'],
  ],
  'src/client': [
    ['module-types', 'offer-reload', 'public-env'],
    ['react', 'define-routes'],
    ['core', 'reports', 'hooks', 'lazy-router'],
    ['actions', 'inspect', 'free-document'],
    ['dev', 'start-router'],
    ['entry'],
    ['index'],
  ],
  'src/client/core': [
    ['data', 'page'],
    ['navigation', 'prefetch'],
  ],
  'src/server': [
    ['http', 'values'],
    ['stores', 'config'],
    ['secrets'],
    ['api'],
    ['request'],
    ['assets'],
    ['reports'],
    ['process'],
    ['routes'],
    ['open-services'],
    ['app-parts'],
    ['app'],
    ['create-app'],
    ['index'],
    ['built-app', 'export'],
    ['main', 'handler', 'export-site'],
  ],
  'src/server/http': [['*'], ['body']],
  'src/server/stores': [
    ['redis-connection', 'stored-key', 'checkpoint-thread', 'database-error', 'make-folder'],
    ['redis-channels', 'redis-info', 'migrations', 'opening-fault', 'shared-key'],
    ['open-database'],
    ['redis-link'],
    ['cache'],
    ['*'],
  ],
  'src/server/request': [['*'], ['answer'], ['admission']],
  'src/server/process': [['*'], ['metrics'], ['workers', 'telemetry']],
  'src/server/reports': [
    ['intake', 'plan-eviction', 'large-bodies'],
    ['spool', 'inbox'],
    ['report-database', 'report-counts'],
    ['delivery'],
    ['relay', 'sdk'],
    ['create-reports'],
  ],
  'src/server/routes': [
    ['decide', 'plain-url', 'client-getters', 'open-request'],
    ['load', 'proxy'],
    ['entrance'],
    ['render', 'resources'],
    ['kept'],
    ['actions'],
    ['data'],
    ['serve-routes', 'serve-runtime', 'answer-failures'],
    ['application'],
  ],
  scripts: [
    ['seeded-random'],
    ['build', 'capacity', 'costly'],
    ['typecheck'],
    ['checks'],
    ['container', 'dev', 'package'],
    ['command'],
    ['*'],
  ],
  'scripts/build': [
    ['*'],
    ['resolve'],
    ['sides'],
    ['bundle-options'],
    ['assets'],
    ['project'],
    ['output'],
    ['build-application'],
  ],
  'scripts/dev': [['process'], ['compile'], ['tell'], ['serve'], ['watch'], ['dev-server']],
}

const MODULE = /\.tsx?$/

/** The room of a file in a tower: its folder, or its own name up to the first dot. */
function roomOf(folder: string, path: string): string | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined
  const [room = ''] = path.slice(folder.length + 1).split('/')
  return room.replace(/\..*$/, '')
}

function floorOf(tower: Tower, room: string): number {
  const named = tower.findIndex((rooms) => rooms.includes(room))
  return named >= 0 ? named : tower.findIndex((rooms) => rooms.includes('*'))
}

/**
 * Finds imports of a higher floor, or of another room on the same floor.
 * @param files sources of the project.
 * @param towers the order to check.
 * @returns one line per fault: file, line, import and rule.
 */
export function floorFaults(files: readonly SourceFile[], towers: Readonly<Record<string, Tower>> = TOWERS): string[] {
  return Object.entries(towers).flatMap(([folder, tower]) =>
    files
      .filter(({ path }) => MODULE.test(path))
      .flatMap((file) => {
        const room = roomOf(folder, file.path)
        return room === undefined ? [] : fileFaults(folder, tower, room, file)
      }),
  )
}

function fileFaults(folder: string, tower: Tower, room: string, file: SourceFile): string[] {
  const floor = floorOf(tower, room)
  if (floor < 0) return [`${file.path}: ${room} has no floor in ${folder}; give it one in scripts/checks/floors.ts`]
  return listImports(file.text).flatMap(({ specifier, line }) => {
    if (!specifier.startsWith('.')) return []
    const target = roomOf(folder, posix.join(posix.dirname(file.path), specifier))
    if (target === undefined || target === room) return []
    const targetFloor = floorOf(tower, target)
    if (targetFloor < floor) return []
    const areLoose = targetFloor === floor && [room, target].every((one) => isLooseFile(tower, one))
    if (areLoose) return []
    const direction = targetFloor > floor ? 'up' : 'across'
    return [
      `${file.path}:${line}: imports ${specifier}; that leads ${direction}, from ${room} to ${target} in ${folder}`,
    ]
  })
}

function isLooseFile(tower: Tower, room: string): boolean {
  return !tower.some((rooms) => rooms.includes(room))
}
