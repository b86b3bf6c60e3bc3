import { action } from 'millrace/server'

/** Changes nothing: its answer has the data of the page, loaded again. */
export const again = action({ handler: () => undefined })
