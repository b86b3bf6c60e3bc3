/** One line of the table. Sizes are in bytes. */
export interface SizedFile {
  readonly name: string
  /** Its content, if the name does not tell. */
  readonly note?: string
  readonly raw: number
  readonly gzip: number
  readonly brotli: number
}

/** Files of one kind, with a title. */
export interface SizeSection {
  readonly title: string
  readonly files: readonly SizedFile[]
}

const COLUMNS = ['raw', 'gzip', 'brotli'] as const

/** Sizes in kB (1,000 bytes), the largest file of each section first, columns aligned, a total per section. */
export function sizeTable(sections: readonly SizeSection[]): string {
  const present = sections.filter(({ files }) => files.length > 0)
  const rows = present.flatMap(({ title, files }) => [
    [title, ...COLUMNS, ''],
    ...files
      .toSorted((a, b) => b.raw - a.raw || a.name.localeCompare(b.name, 'en'))
      .map((file) => [`  ${file.name}`, ...COLUMNS.map((column) => kilobytes(file[column])), file.note ?? '']),
    [
      `  ${files.length === 1 ? '1 file' : `${files.length} files`}`,
      ...COLUMNS.map((column) => kilobytes(files.reduce((sum, file) => sum + file[column], 0))),
      'in total',
    ],
  ])
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(cell.length, all[i] ?? 0)), [])
  return rows
    .map(([name = '', ...cells]) =>
      [name.padEnd(widths[0] ?? 0), ...cells.slice(0, 3).map((cell, i) => cell.padStart(widths[i + 1] ?? 0)), cells[3]]
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** As in all tables of a build: `12.35 kB`, of 1,000 bytes each. */
export function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`
}
