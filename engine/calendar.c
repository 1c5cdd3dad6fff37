/* SPDX-License-Identifier: MIT */
/* From a date to a number: what the loaders of text and the literals of filters share. */
#include "loader.h"

static int days_of_month(int year, int month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Years begin in March here, so that the leap day is the last one and a month's first day is a linear function of its
 * number (after Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, 2013). They are counted from 400 earlier
 * on: January of the year 0 stands in the one before. */
bool agb_days_of_date(int year, int month, int day, int64_t *days)
{
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    int64_t y = year + 400 - (month <= 2);
    int64_t era = y / 400, year_of_era = y % 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    *days = era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468 - 146097;
    return true;
}
