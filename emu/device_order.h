/* emu/device_order.h: the order of a device, for code that reports on its launches. */
#ifndef HEDDLE_EMU_DEVICE_ORDER_H
#define HEDDLE_EMU_DEVICE_ORDER_H

struct emu;
struct emu_order;

/* The order of launches that name none: emu_config.order. NULL: they have none. */
const struct emu_order *emu_device_order(const struct emu *e);

#endif
