import { decodeSegmentFiles, segmentFilesPath, type SegmentFiles } from '../../shared/protocol/segment-files.ts'

export type { SegmentFiles }

/** Where the list of segment files comes from. */
export interface SegmentFilesSource {
  /** Fetched once, on first use or by `warm()`. A failure is forgotten, so that the next call tries again. */
  get(): Promise<SegmentFiles>
  /** Fetches ahead. Never fails. */
  warm(): void
}

/**
 * @param buildId of the document; the list of another build would name files that this one does not have.
 * @param fetchJson rejects for anything but a 200 with JSON.
 */
export function createSegmentFiles(buildId: string, fetchJson: (url: string) => Promise<unknown>): SegmentFilesSource {
  let files: Promise<SegmentFiles> | undefined

  function get(): Promise<SegmentFiles> {
    if (files === undefined) {
      const fetched = fetchJson(segmentFilesPath(buildId)).then(decodeSegmentFiles)
      files = fetched
      fetched.catch(() => (files = undefined))
    }
    return files
  }

  return { get, warm: () => void get().catch(() => undefined) }
}
