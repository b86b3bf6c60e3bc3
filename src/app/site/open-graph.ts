import image from './og-image.png'

/** What the product is and for whom, without a full stop. */
export const CLAIM = 'A React application server for teams that run Express'

/** What previews of links show: the picture is the same for all pages. */
export function openGraph(own: { readonly title?: string; readonly url?: string } = {}): Record<string, string> {
  return {
    site_name: 'Millrace',
    type: 'website',
    image,
    'image:width': '1200',
    'image:height': '630',
    'image:alt': `Millrace. ${CLAIM}.`,
    ...own,
  }
}
