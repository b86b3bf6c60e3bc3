import { createVisitor, type Site } from './visitor.ts'

/** A page that says `cache: 'shared'` is not kept. */
export class NotKeptError extends Error {
  override readonly name = 'NotKeptError'
  /** Value of `Cache-Status` of the second visit; `undefined` without one. */
  readonly cacheStatus: string | undefined

  constructor(path: string, status: number, cacheStatus: string | undefined) {
    super(`${path} is not kept: ${reasonOf(status, cacheStatus)}.`)
    this.cacheStatus = cacheStatus
  }
}

/**
 * Visits a page twice, each time as a stranger, and expects that the second visit gets the document that the first has
 * made.
 * @param site an application that `createTestApp` or `startBuild` has made, or an origin.
 * @param path of a page with `cache: 'shared'`.
 * @throws {NotKeptError} with what keeps the page from being kept.
 */
export async function expectKept(site: Site, path: string): Promise<void> {
  const visit = async (): Promise<Response> => {
    const answer = await createVisitor(site).fetch(path)
    await answer.body?.cancel()
    return answer
  }
  await visit()
  const { headers, status } = await visit()
  const cacheStatus = headers.get('cache-status') ?? undefined
  if (status !== 200 || cacheStatus?.startsWith('Millrace; hit') !== true) {
    throw new NotKeptError(path, status, cacheStatus)
  }
}

function reasonOf(status: number, cacheStatus: string | undefined): string {
  if (cacheStatus === undefined) return "its entry in the route table does not say cache: 'shared'"
  if (status !== 200) return `it was answered with ${status}, and only pages with status 200 are kept`
  const [, detail] = /detail="((?:[^"\\]|\\.)*)"/.exec(cacheStatus) ?? []
  return detail === undefined
    ? `Cache-Status says ${cacheStatus}`
    : `what is made for all visitors reads or sets something of one: ${detail.replace(/\\(.)/g, '$1')}`
}
