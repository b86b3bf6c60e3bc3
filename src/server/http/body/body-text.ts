import { BodyError } from './body-error.ts'
import type { BodySource } from './body-source.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes UTF-8.
 * @throws {BodyError} 400 for invalid bytes: replacing them would silently change what was sent.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new BodyError(400, 'Text that is not valid UTF-8')
  }
}

/**
 * Reads a whole body as text.
 * @throws {BodyError} as the source does, and 400 for invalid UTF-8.
 */
export async function readText(source: BodySource): Promise<string> {
  const chunks: Buffer[] = []
  for (let chunk = await source.read(); chunk !== undefined; chunk = await source.read()) chunks.push(chunk)
  return decodeUtf8(Buffer.concat(chunks))
}
