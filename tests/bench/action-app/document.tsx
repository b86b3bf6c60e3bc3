export { Document } from '../../../src/app/document.tsx'
