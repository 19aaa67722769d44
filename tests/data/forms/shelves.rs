pub fn fill_shelves(room: &Room) -> Option<Shelves> {
    let door = room.door().open().ok()?;
    let mut shelves: Shelves = Shelves::empty();
    let mut count = 0;

    let put_pots =
        |shelves: &mut Shelves, first: u32, last: u32| {
            for pot in first..=last {
                shelves.put(pot);
                shelves.turn(pot);
            }
        };

    let _ = door.each_row(
        &mut |row| {
            let first = row.first_pot();
            let last = row.last_pot();
            if first == last {
                return false;
            }
            if row.is_wet() {
                count += 1;
            } else {
                put_pots(&mut shelves, first, last);
            }
            if row.is_long() {
                count += 2;
            }
            true
        },
        None,
    );

    shelves.close();
    Some(shelves)
}
