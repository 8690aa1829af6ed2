/** The region where a store of one's own does not care. */
export const REGION_OF_ANY = 'us-east-1'
