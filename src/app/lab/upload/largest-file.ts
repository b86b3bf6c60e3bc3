/** Most bytes of an uploaded file: 32 MiB. */
export const LARGEST_FILE_BYTES = 33_554_432

/** A size for a person, rounded up: `1.5 MiB`. A byte too many shows. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_024) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  const [size, unit] = bytes < 1_048_576 ? [bytes / 1_024, 'KiB'] : [bytes / 1_048_576, 'MiB']
  return `${Math.ceil(size * 10) / 10} ${unit}`
}
