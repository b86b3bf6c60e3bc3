import { useState } from 'react'
import Modal from 'react-modal'

export const metadata = { title: 'react-modal' }

/** The package has CommonJS modules alone, and its default export is a member of them. */
export default function ModalPage() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <h1>react-modal</h1>
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      <Modal isOpen={isOpen} onRequestClose={() => setOpen(false)} contentLabel="A mill" ariaHideApp={false}>
        <p>Upper mill</p>
      </Modal>
    </>
  )
}
