import { useActionState, useState, type SubmitEvent } from 'react'
import { useField, useUploadProgress } from 'millrace'
import { Readout } from '../readout.tsx'
import { upload } from './actions.server.ts'
import { LARGEST_FILE_BYTES, sizeInWords } from './largest-file.ts'
import styles from './upload-form.module.css'

/** The form, the upload's progress, and the answer. */
export function UploadForm() {
  const [state, formAction, pending] = useActionState(upload, null)
  const progress = useUploadProgress(upload)
  const [fault, setFault] = useState<string>()
  const [sending, setSending] = useState('')
  const { error } = useField('file', state)
  const answered = state?.kind === 'empty' ? 'Please choose a file.' : error
  const shownFault = fault ?? (pending ? undefined : answered)

  function check(event: SubmitEvent<HTMLFormElement>): void {
    if (pending) return event.preventDefault()
    const file = new FormData(event.currentTarget).get('file')
    const chosen = file instanceof File && file.name !== '' ? file : undefined
    const found = chosen === undefined ? 'Please choose a file.' : sizeFault(chosen.size)
    setFault(found)
    setSending(chosen?.name ?? '')
    if (found !== undefined) event.preventDefault()
  }

  return (
    <>
      <form action={formAction} onSubmit={check} noValidate className={styles['form']}>
        <label htmlFor="file">File</label>
        <input
          id="file"
          name="file"
          type="file"
          required
          onChange={() => setFault(undefined)}
          aria-describedby={shownFault === undefined ? 'file-hint' : 'file-error file-hint'}
          aria-invalid={shownFault !== undefined}
        />
        <small id="file-hint">{`At most ${sizeInWords(LARGEST_FILE_BYTES)}.`}</small>
        {shownFault === undefined ? null : (
          <p id="file-error" role="alert" className={styles['error']} data-testid="error-file">
            {shownFault}
          </p>
        )}
        <div className="button-row">
          <button type="submit" aria-disabled={pending}>
            {pending ? 'Sending …' : 'Send'}
          </button>
          {progress === undefined ? null : (
            <button type="button" onClick={progress.cancel}>
              Cancel
            </button>
          )}
        </div>
        {pending ? (
          <progress
            aria-label={`Sending ${sending}`}
            data-testid="progress"
            max={progress?.total || undefined}
            value={progress === undefined ? undefined : progress.loaded}
          />
        ) : null}
      </form>
      {state?.kind === 'hashed' && !pending ? (
        <>
          <Readout
            label={`SHA-256 of ${state.name}, ${sizeInWords(state.bytes)}`}
            testId="sha256"
            value={state.sha256}
          />
          <p role="status" className="visually-hidden">
            The file has arrived.
          </p>
        </>
      ) : null}
    </>
  )
}

function sizeFault(bytes: number): string | undefined {
  if (bytes <= LARGEST_FILE_BYTES) return undefined
  return `That file has ${sizeInWords(bytes)}; at most ${sizeInWords(LARGEST_FILE_BYTES)} are taken.`
}
