/** The region for a store that takes any. */
export const REGION_OF_ANY = 'us-east-1'
