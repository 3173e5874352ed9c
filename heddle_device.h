/* heddle_device.h: a device's last launch as emu reports it, for the command line. */
#ifndef HEDDLE_DEVICE_H
#define HEDDLE_DEVICE_H

struct emu_report;
struct heddle_device;

/* Good until the next launch; NULL: there was none, or it could not begin. */
const struct emu_report *device_report(const struct heddle_device *d);

#endif
