export const metadata = { title: 'A failing component' }

/** Fails while it is rendered: on the server for a document, in the browser after a click. */
export default function FailingComponentPage(): never {
  throw new Error('The lab component failed on purpose')
}
