import type { ExportFault } from './site-paths.ts'

/** Faults that a message names; a site may have thousands of one kind. */
const MOST_NAMED = 200

const TEXTS = {
  unfit: {
    what: 'cannot be files',
    wayOut: 'Change them, or leave them out of the export by --partial.',
  },
  'dead-links': {
    what: 'are linked to, but are not files of this export',
    wayOut: 'Fix the links, or let paths() list the pages.',
  },
} as const

/** An application that cannot be exported: names all that is in the way. */
export class ExportError extends Error {
  override readonly name = 'ExportError'
  readonly kind: keyof typeof TEXTS
  readonly faults: readonly ExportFault[]

  constructor(kind: keyof typeof TEXTS, faults: readonly ExportFault[]) {
    super(`These ${TEXTS[kind].what}:\n${faultList(faults)}\n${TEXTS[kind].wayOut}`)
    this.kind = kind
    this.faults = faults
  }
}

/** The faults, a line each. */
export function faultList(faults: readonly ExportFault[]): string {
  const lines = faults.slice(0, MOST_NAMED).map(({ what, reason }) => `  ${what}: ${reason}`)
  const more = faults.length - lines.length
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n')
}
