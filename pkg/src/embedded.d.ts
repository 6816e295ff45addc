/** The module in base64; the build writes it. */
export declare const embedded: string;
