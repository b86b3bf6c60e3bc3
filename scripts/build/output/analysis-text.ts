import type { AnalyzedChunk, BundleAnalysis, ChunkPart, DuplicatePackage, FileSizes } from './analyze-bundle.ts'
import type { ChunkLoads } from './chunk-loads.ts'
import { kilobytes } from './size-table.ts'

const COLUMNS = 80 // of a terminal
const SIZE_COLUMNS = 11 // '1234.56 kB' and a space
const MOST_ROWS = 20 // of routes, chunks and packages: the largest
const MOST_PARTS = 5 // of a chunk
const MOST_NAMES = 6 // of routes in a sentence

const LONGEST_NAME = 60 // in a chain or a sentence

const LABEL = 10
const INDENT = ' '.repeat(LABEL)

/**
 * An analysis as text of 80 columns: duplicates, routes, chunks. Long lists end with the number of rows that are left out.
 */
export function analysisText(analysis: BundleAnalysis): string {
  if (analysis.chunks.length === 0) return 'There are no scripts for browsers to analyze.'
  const sections = [routeLines(analysis), chunkLines(analysis), duplicateLines(analysis.duplicates)]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.trimEnd()).join('\n'))
    .join('\n\n')
}

function routeLines({ routes, everyPage }: BundleAnalysis): string[] {
  const head = row('First load of each route', ['scripts', 'gzip', 'brotli', 'css brotli'])
  const cells = ({ raw, gzip, brotli }: FileSizes): string[] => [raw, gzip, brotli].map(kilobytes)
  return [
    head,
    row('  (of every page)', cells(everyPage)),
    ...routes
      .slice(0, MOST_ROWS)
      .map(({ route, scripts, styles }) => row(`  ${route}`, [...cells(scripts), kilobytes(styles.brotli)])),
    ...moreOf(routes.length, 'route'),
  ]
}

function chunkLines({ chunks }: BundleAnalysis): string[] {
  return [
    row('Scripts for browsers', ['', 'raw', 'gzip', 'brotli']),
    ...chunks.slice(0, MOST_ROWS).flatMap((chunk) => ['', ...oneChunk(chunk)]),
    ...(chunks.length > MOST_ROWS ? ['', ...moreOf(chunks.length, 'script')] : []),
  ]
}

function oneChunk({ name, raw, gzip, brotli, loads, parts, bundlerBytes }: AnalyzedChunk): string[] {
  const shown = parts.slice(0, MOST_PARTS)
  const others = parts.length - shown.length
  const otherBytes = parts.slice(MOST_PARTS).reduce((sum, { bytes }) => sum + bytes, bundlerBytes)
  const rest = others > 0 ? `${others} more, and the bundler's own code` : "the bundler's own code"
  return [
    row(name, ['', ...[raw, gzip, brotli].map(kilobytes)]),
    ...wrapped('  loaded', loadWords(loads), ' '),
    ...shown.flatMap((part, at) => onePart(part, at === 0 ? '  has' : '')),
    ...(otherBytes > 0 ? [partRow(parts.length === 0 ? '  has' : '', rest, otherBytes)] : []),
  ]
}

function onePart({ name, version, bytes, chain }: ChunkPart, label: string): string[] {
  const named = version === undefined ? name : `${name} ${version}`
  return [partRow(label, named, bytes), ...(chain.length > 1 ? wrapped(`${INDENT}  by`, chainWords(chain), '') : [])]
}

function partRow(label: string, name: string, bytes: number): string {
  const width = COLUMNS - LABEL - SIZE_COLUMNS
  return label.padEnd(LABEL) + fitted(name, width) + kilobytes(bytes).padStart(SIZE_COLUMNS)
}

function loadWords({ everyPage, routes, laterRoutes, fallbacks, importedBy }: ChunkLoads): readonly string[] {
  const words: string[] = []
  const by = importedBy.length > 0 ? ` by import() in ${listed(importedBy)}` : ''
  if (everyPage === 'first') words.push('with every page')
  if (everyPage === 'later') words.push(`later, on every page,${by || ' by import()'}`)
  if (routes.length > 0) words.push(`with ${listed(routes)}, first or by navigation`)
  if (laterRoutes.length > 0) words.push(`later, on ${listed(laterRoutes)},${by || ' by import()'}`)
  if (fallbacks.length > 0) words.push(`with ${listed(fallbacks)}`)
  return (words.join('; ') || 'by nothing: it is empty').split(' ')
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  const shown = names.slice(0, MOST_NAMES).map(short)
  if (more > 0) shown.push(`${more} more`)
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

function chainWords(chain: readonly string[]): readonly string[] {
  return chain.map(short).map((name, at) => (at === chain.length - 1 ? name : `${name} → `))
}

function duplicateLines(duplicates: readonly DuplicatePackage[]): string[] {
  if (duplicates.length === 0) return ['No package is there twice.']
  return [
    'Packages that are there more than once',
    ...duplicates
      .slice(0, MOST_ROWS)
      .flatMap(({ name, copies }) => [
        '',
        ...copies.flatMap(({ version = '', folder, bytes, chain }) => [
          partRow(`  ${name} `, `${version}  ${folder}`.trim(), bytes),
          ...wrapped(`${INDENT}  by`, chainWords(chain), ''),
        ]),
      ]),
    ...moreOf(duplicates.length, 'package'),
  ]
}

function moreOf(count: number, noun: string): string[] {
  const more = count - MOST_ROWS
  return more > 0 ? [`  and ${more} more ${noun}${more === 1 ? '' : 's'}; --analyze json lists all`] : []
}

/** A name and up to four sizes. */
function row(name: string, cells: readonly string[]): string {
  const width = COLUMNS - 4 * SIZE_COLUMNS
  const own = cells[0] === '' ? width + SIZE_COLUMNS : width
  const sizes = cells[0] === '' ? cells.slice(1) : cells
  return fitted(name, own) + sizes.map((cell) => cell.padStart(SIZE_COLUMNS)).join('')
}

function short(name: string): string {
  return name.length > LONGEST_NAME ? fitted(name, LONGEST_NAME) : name
}

/** The end of a path says more than its start. */
function fitted(name: string, width: number): string {
  return name.length <= width ? name.padEnd(width) : `…${name.slice(name.length - width + 1)}`
}

/** Fills lines with words, behind a label. */
function wrapped(label: string, words: readonly string[], gap: string): string[] {
  const start = Math.max(label.length + 1, LABEL)
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    const longer = line === '' ? word : line + gap + word
    if (line === '' || start + longer.trimEnd().length <= COLUMNS) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  if (line !== '') lines.push(line)
  return lines.map((text, at) => (at === 0 ? label.padEnd(start) : ' '.repeat(start)) + text)
}
