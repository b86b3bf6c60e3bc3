import { decodeSegmentFiles, segmentFilesPath, type SegmentFiles } from '../../../shared/protocol/segment-files.ts'

/** Source of the list of segment files. */
export interface SegmentFilesSource {
  /** Public path of the list. */
  readonly url: string
  /** The list, once it has loaded. */
  readonly listed: SegmentFiles | undefined
  /** Fetched once. A failure is forgotten, so that the next call tries again. */
  get(): Promise<SegmentFiles>
}

/**
 * @param buildId of the document; another build's list names files that this one does not have.
 * @param fetchJson rejects unless the answer is JSON.
 */
export function createSegmentFiles(buildId: string, fetchJson: (url: string) => Promise<unknown>): SegmentFilesSource {
  const url = segmentFilesPath(buildId)
  let fetching: Promise<SegmentFiles> | undefined
  let listed: SegmentFiles | undefined

  async function fetchFiles(): Promise<SegmentFiles> {
    try {
      return (listed = decodeSegmentFiles(await fetchJson(url)))
    } finally {
      fetching = undefined
    }
  }

  return {
    url,
    get listed() {
      return listed
    },
    async get() {
      return listed ?? (fetching ??= fetchFiles())
    },
  }
}
