import { Experiment } from '../experiment.tsx'
import { LARGEST_FILE_BYTES, sizeInWords } from './largest-file.ts'
import { UploadForm } from './upload-form.tsx'

export const metadata = { title: 'Upload' }

/** Sends a file, and shows what has become of it. */
export default function UploadPage() {
  return (
    <Experiment
      title="Upload"
      pattern="/lab/upload"
      lede={`The file is read while it arrives, and only its SHA-256 is kept: the file is never completely in memory or on disk. At most ${sizeInWords(LARGEST_FILE_BYTES)}.`}
    >
      <UploadForm />
    </Experiment>
  )
}
