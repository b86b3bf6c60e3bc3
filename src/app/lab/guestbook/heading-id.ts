/** Id of the heading of the list: where the focus goes when an entry is gone. */
export const HEADING_ID = 'entries-heading'
