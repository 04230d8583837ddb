/** The largest server of each type, and its memory in MB. */
export const mostCores = { ENTERPRISE: 62, VCPU: 60 } as const;
export const mostRam = 235_520;
