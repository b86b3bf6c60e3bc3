import { expect, test } from 'vitest'
import { floorFaults, TOWERS, type Tower } from '../../../scripts/checks/floors.ts'
import { towerDiagram, withTower } from '../../../scripts/checks/tower-diagram.ts'

const TOWER: Readonly<Record<string, Tower>> = { 'src/house': [['cellar'], ['*'], ['left', 'right'], ['roof']] }

function faultsOf(path: string, specifier: string, tower = TOWER): string[] {
  return floorFaults([{ path, text: `import type { x } from '${specifier}'\n` }], tower)
}

const allowed = [
  ['src/house/roof.ts', './left/bed.ts', 'a lower floor'],
  ['src/house/left/bed.ts', './lamp.ts', 'the same room'],
  ['src/house/left/bed.ts', '../cellar/wine.ts', 'a floor further down'],
  ['src/house/stairs.ts', './door.ts', 'files that no floor names'],
  ['src/house/left/bed.ts', '../../garden/tree.ts', 'another part of the house'],
  ['src/house/left/bed.ts', 'node:path', 'a package'],
] as const
test.for(allowed)('%s may import %s: %s', ([path, specifier]) => {
  expect(faultsOf(path, specifier)).toEqual([])
})

const refused = [
  ['src/house/left/bed.ts', '../roof.ts', 'up, from left to roof'],
  ['src/house/stairs.ts', './roof.tsx', 'up, from stairs to roof'],
  ['src/house/left/bed.ts', '../right/desk.ts', 'across, from left to right'],
  ['src/house/cellar/wine.ts', '../stairs.ts', 'up, from cellar to stairs'],
] as const
test.for(refused)('%s must not import %s', ([path, specifier, direction]) => {
  expect(faultsOf(path, specifier)).toEqual([`${path}:1: imports ${specifier}; that leads ${direction} in src/house`])
})

test('a room without a floor is named', () => {
  const tower = { 'src/house': [['cellar']] }
  expect(faultsOf('src/house/roof.ts', './cellar/wine.ts', tower)).toEqual([
    'src/house/roof.ts: roof has no floor in src/house; give it one in scripts/checks/floors.ts',
  ])
})

const planted = [
  ['src/server/process/readiness.ts', '../app.ts', 'from process to app in src/server'],
  ['scripts/build/assets/css-files.ts', '../project/load-config.ts', 'from assets to project in scripts/build'],
  ['scripts/build/runtime.ts', './resolve/look-up.ts', 'from runtime to resolve in scripts/build'],
  ['scripts/dev/tell/dev-reports.ts', '../watch/dev-updates.ts', 'from tell to watch in scripts/dev'],
] as const
test.for(planted)('an arrow planted from %s to %s is found', ([path, specifier, direction]) => {
  expect(faultsOf(path, specifier, TOWERS)).toEqual([`${path}:1: imports ${specifier}; that leads up, ${direction}`])
})

test('the picture has every floor of the server, the highest first, each above the next', () => {
  const lines = towerDiagram('src/server').split('\n')
  expect(lines.slice(0, 4)).toEqual([
    '```mermaid',
    'flowchart TB',
    '  f15["main · handler · export-site"]',
    '  f14["built-app · export"]',
  ])
  expect(lines.at(-2)).toMatch(/^ {2}f15 --> f14 --> .* --> f1 --> f0$/)
})

test('a picture that shows other floors is replaced, and a text without a place for it is refused', () => {
  const stale = withTower(
    '# House\n<!-- tower of src/server: drawn by `npm run format` from scripts/checks/floors.ts -->\nold\n<!-- end of tower -->\n',
    'src/server',
  )
  expect(stale).not.toContain('old')
  expect(withTower(stale, 'src/server')).toBe(stale)
  expect(() => withTower(stale, 'scripts/dev')).toThrow(/no place for the tower of scripts\/dev/)
})
